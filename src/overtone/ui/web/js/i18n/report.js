/** The texts of the report and of the notebook's widget, which hold all languages. */
import { addTexts } from "../i18n.js";
import { report as en } from "./en/report.js";
import { zh } from "./zh.js";
import { report as zhReport } from "./zh/report.js";

export function addReportTexts() {
  addTexts("en", { report: en });
  addTexts("zh", { ...zh, report: zhReport });
}
