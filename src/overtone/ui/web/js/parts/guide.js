/** The script of the guide of `overtone demo`. */
import { Guide } from "../guide/guide.js";
import { addTexts } from "../i18n.js";
import { guide as en } from "../i18n/en/guide.js";
import { guide as zh } from "../i18n/zh/guide.js";
import { guideView } from "../parts.js";

addTexts("en", { guide: en });
addTexts("zh", { guide: zh });
guideView.value = Guide;
