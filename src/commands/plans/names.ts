/** How a run of a plan is called. */
export const APPLY = "docs apply";

/** How a run is called that takes another back. */
export const UNDO = "runs undo";
