/** The entry of the Worker: paints one job after the other. */

import { painting } from "./pixels.js";

onmessage = ({ data: { id, job } }) => {
  const steps = painting(job);
  for (;;) {
    const step = steps.next();
    if (step.done) {
      postMessage({ id, pixels: step.value }, { transfer: [step.value.buffer] });
      return;
    }
  }
};
