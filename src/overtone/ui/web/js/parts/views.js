/** The script of the views that few pages open with. */
import { addTexts } from "../i18n.js";
import { dialogs } from "../i18n/en/dialogs.js";
import { views } from "../views/index.js";
import { moreViews } from "../views/more.js";

addTexts("en", { dialogs });
Object.assign(views, moreViews);
