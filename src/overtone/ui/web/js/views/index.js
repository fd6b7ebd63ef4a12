/** The views that the page opens with, by their word in the address; parts bring the others. */
import { ExperimentsView } from "./experiments.js";
import { HistoryView } from "./history.js";
import { OverviewView } from "./overview.js";
import { TrialView } from "./trial.js";
import { TrialsView } from "./trials.js";

/** @type {Record<string, () => any>} */
export const views = {
  experiments: ExperimentsView,
  overview: OverviewView,
  trials: TrialsView,
  trial: TrialView,
  history: HistoryView,
};
