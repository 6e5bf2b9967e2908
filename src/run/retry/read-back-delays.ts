/** Waits before each read-back of a write, in milliseconds: a list may show a write later than it was applied. */
export const READ_BACK_DELAYS_MS = [0, 250, 1_000, 2_000];

/** How long a list may show what was there before a write, in milliseconds: the sum of these waits. */
export const LONGEST_LAG = READ_BACK_DELAYS_MS.reduce((sum, lag) => sum + lag, 0);
