/** A cause that made a run slower, and for how many seconds: a status with Retry-After, or one of these names. */
export type SlowCause = { readonly cause: string; readonly seconds: number };

/** The speed of a run's requests. */
export type Pace = {
	/** requests that were answered or failed, of the run alone */
	readonly requests: number;
	/** seconds since its first row started */
	readonly seconds: number;
	/** mean time of one request, in milliseconds */
	readonly latency: number;
	/** requests that may be in flight, at the end */
	readonly concurrency: number;
	readonly slow: readonly SlowCause[];
};
