"""Labels that no person gave: by models, rules and clicks. They are never judgements."""
