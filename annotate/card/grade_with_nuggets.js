// The judging card of a campaign with generated answers: nuggets are made beside the document.

import { face } from "./grade.js";
import { mountable } from "./view/frame/mount.js";
import { nuggetPanel } from "./view/panels/nugget_panel.js";

export default mountable({ ...face, more: (view, drawn) => [nuggetPanel(view, drawn)] });
