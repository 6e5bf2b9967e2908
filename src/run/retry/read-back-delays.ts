/** Waits before a list is believed that does not show what was written, in milliseconds: indexes lag behind writes. */
export const READ_BACK_DELAYS_MS = [0, 250, 1_000, 2_000];

/** How long a list may show what was there before a write, in milliseconds: as long as a write is looked for. */
export const LONGEST_LAG = READ_BACK_DELAYS_MS.reduce((sum, lag) => sum + lag, 0);
