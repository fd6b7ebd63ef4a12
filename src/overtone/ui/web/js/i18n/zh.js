/** The Chinese texts of the page's views. */
import { decisions } from "./zh/decisions.js";
import { dialogs } from "./zh/dialogs.js";
import { phrases } from "./zh/phrases.js";
import { plots } from "./zh/plots.js";
import { scenes } from "./zh/scenes.js";
import { shell } from "./zh/shell.js";
import { tables } from "./zh/tables.js";

/** @type {Record<string, Record<string, string>>} */
export const zh = { shell, plots, tables, scenes, decisions, dialogs, phrases };
