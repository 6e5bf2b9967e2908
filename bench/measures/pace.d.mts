export type Pace = {
	/** requests a second */
	readonly sustained: number;
	readonly inSecond: number;
	readonly inTenth: number;
};

/** @param arrivals milliseconds, ascending */
export function pace(arrivals: readonly number[], rows?: number): Pace;
