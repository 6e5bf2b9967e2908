/** How a run of a plan is called. */
export const APPLY = "docs apply";
