/** The script of the Chinese texts. */
import { addTexts } from "../i18n.js";
import { zh } from "../i18n/zh.js";

addTexts("zh", zh);
