/** The views by their word in the address. */
import { CompareView } from "./compare.js";
import { DecisionsView } from "./decisions.js";
import { ExperimentsView } from "./experiments.js";
import { HistoryView } from "./history.js";
import { ImportanceView } from "./importance.js";
import { MachinesView } from "./machines.js";
import { OverviewView } from "./overview.js";
import { ParallelView } from "./parallel.js";
import { RelationsView } from "./relations.js";
import { RungsView } from "./rungs.js";
import { TimelineView } from "./timeline.js";
import { TrialView } from "./trial.js";
import { TrialsView } from "./trials.js";

/** @type {Record<string, () => any>} */
export const views = {
  experiments: ExperimentsView,
  overview: OverviewView,
  trials: TrialsView,
  trial: TrialView,
  history: HistoryView,
  parallel: ParallelView,
  importance: ImportanceView,
  relations: RelationsView,
  timeline: TimelineView,
  rungs: RungsView,
  decisions: DecisionsView,
  machines: MachinesView,
  compare: CompareView,
};
