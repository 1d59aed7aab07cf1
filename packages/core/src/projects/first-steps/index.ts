export { type FirstStepsView, mayHaveFirstSteps } from "./first-steps.ts";
export { getFirstSteps } from "./get-first-steps.ts";
export { hideFirstSteps } from "./hide-first-steps.ts";
