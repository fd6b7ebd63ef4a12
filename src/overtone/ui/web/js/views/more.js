/** The other views, by their word in the address, and the dialogs of requests. */
import { Dialogs } from "../control/request_dialogs.js";
import { CompareView } from "./compare.js";
import { DecisionsView } from "./decisions.js";
import { ImportanceView } from "./importance.js";
import { MachinesView } from "./machines.js";
import { ParallelView } from "./parallel.js";
import { RelationsView } from "./relations.js";
import { RungsView } from "./rungs.js";
import { TimelineView } from "./timeline.js";

/** @type {Record<string, () => any>} */
export const moreViews = {
  parallel: ParallelView,
  importance: ImportanceView,
  relations: RelationsView,
  timeline: TimelineView,
  rungs: RungsView,
  decisions: DecisionsView,
  machines: MachinesView,
  compare: CompareView,
  dialogs: Dialogs,
};
