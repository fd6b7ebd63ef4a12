/** The script of the views that few pages open with. */
import { views } from "../views/index.js";
import { moreViews } from "../views/more.js";

Object.assign(views, moreViews);
