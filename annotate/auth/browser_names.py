"""Names of browsers and systems, by which people recognise their sessions."""

# The first that fits: most browsers also name those that they descend from.
_BROWSERS = {
    "Edg/": "Edge",
    "EdgA/": "Edge",
    "EdgiOS/": "Edge",
    "OPR/": "Opera",
    "SamsungBrowser/": "Samsung Internet",
    "FxiOS/": "Firefox",
    "Firefox/": "Firefox",
    "CriOS/": "Chrome",
    "Chrome/": "Chrome",
    "Safari/": "Safari",
}
_SYSTEMS = {
    "iPhone": "iPhone",
    "iPad": "iPad",
    "Android": "Android",
    "Windows": "Windows",
    "CrOS": "ChromeOS",
    "Mac OS X": "macOS",
    "Linux": "Linux",
}


def describe_browser(user_agent: str) -> str:
    """Name the browser and system of a ``User-Agent``, which the browser can choose.

    >>> describe_browser("Mozilla/5.0 (X11; Linux x86_64; rv:140.0) Gecko/20100101 Firefox/140.0")
    'Firefox on Linux'
    >>> describe_browser("curl/8.5.0")
    'unknown browser'
    """
    browser = next((name for sign, name in _BROWSERS.items() if sign in user_agent), "unknown browser")
    system = next((name for sign, name in _SYSTEMS.items() if sign in user_agent), None)
    return browser if system is None else f"{browser} on {system}"
