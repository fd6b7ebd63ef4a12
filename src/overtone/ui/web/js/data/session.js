/** The experiment that is open: loads its columns, follows its stream, and keeps the signals up to date. */
import { batch } from "../html.js";
import { clearExperiment, connection, experiment, failure, isLoaded, lostAt, needsLogin } from "../state.js";
import { overview as overviewNow, overviewAt, problem, selected, source as sourceNow, table } from "../state.js";

let stop = () => {};
/** Distinguishes what was asked for the experiment before from what is asked for this one. */
let visit = 0;
let journal = "";

/** @param {string} id The experiment; "" to close the one that is open. */
export async function openExperiment(id) {
  if (id === experiment.value) return;
  closeStream();
  visit++;
  clearExperiment();
  experiment.value = id;
  journal = "";
  if (id) await load(visit);
}

/** Try again to show an experiment that could not be shown. */
export function retry() {
  return load(visit);
}

/** Ask for the columns, then follow from their last record. @param {number} mine */
async function load(mine) {
  const source = sourceNow.value;
  if (!source) return;
  try {
    const message = await source.columns(experiment.value);
    if (mine !== visit) return;
    batch(() => {
      if (journal && message.header.journal !== journal) selected.value = new Set();
      journal = message.header.journal ?? "";
      table.value.merge(message);
      isLoaded.value = true;
      failure.value = null;
    });
    follow();
  } catch (error) {
    if (mine === visit) fail(/** @type {any} */ (error));
  }
}

/** Open the stream, if none is open and somebody looks. */
function follow() {
  const source = sourceNow.value;
  const id = experiment.value;
  if (!source || !id || !isLoaded.value || (typeof document !== "undefined" && document.hidden)) return;
  closeStream();
  const mine = visit;
  stop = source.follow(id, table.value.n, journal, {
    onRows: (message) => table.value.merge(message),
    onOverview: takeOverview,
    onProblem: (text) => void (problem.value = text),
    onReload: () => {
      closeStream();
      load(mine);
    },
    onState: (now) => {
      if (now === "login") return askForLogin();
      if (now === "lost") return lose();
      batch(() => {
        lostAt.value = 0;
        problem.value = ""; // the server says at once if it is still there
        connection.value = connectionBy(overviewNow.value);
      });
    },
  });
}

/** Close the stream: nobody looks. */
function closeStream() {
  stop();
  stop = () => {};
}

/** @param {any} overview */
function takeOverview(overview) {
  batch(() => {
    overviewAt.value = performance.now();
    overviewNow.value = overview;
    connection.value = connectionBy(overview);
  });
}

/** @param {any} overview */
function connectionBy(overview) {
  if (!overview) return "live";
  if (overview.state !== "running" && overview.state !== "stopping") return "over";
  return overview.is_polled ? "polling" : "live";
}

function lose() {
  batch(() => {
    if (!lostAt.value) lostAt.value = Date.now();
    connection.value = "lost";
  });
}

/** @param {Error & {status?: number}} error */
function fail(error) {
  if (error.status === 401) askForLogin();
  else failure.value = error;
}

export function askForLogin() {
  closeStream();
  needsLogin.value = true;
}

/** Close the stream while the page is hidden, and catch up when it is seen again. */
export function followVisibility() {
  document.addEventListener("visibilitychange", () => (document.hidden ? closeStream() : follow()));
  addEventListener("online", () => connection.value === "lost" && follow());
}
