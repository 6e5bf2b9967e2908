/** A line of a chart, one value for each x. */
export type ChartLine = {
	readonly label: string;
	readonly kind: "line" | "dashed" | "bar";
	/** colour: one of the classes of the page */
	readonly tone: "accent" | "soft" | "bad1" | "bad2" | "bad3" | "bad4" | "bad5";
	readonly values: readonly (number | null)[];
};

/** A time in which a run was held up. */
export type ChartBand = {
	readonly state: "outage" | "paused" | "waiting" | "slowed";
	readonly from: number;
	readonly to: number;
};

/** A chart as numbers: the page draws it twice, without scripts and with them. */
export type Chart = {
	readonly id: string;
	/** with its unit */
	readonly title: string;
	/** what the values of its lines are, in words for its description */
	readonly description: string;
	/** seconds of the run, without the pauses between executions */
	readonly x: readonly number[];
	/** where the axis ends */
	readonly end: number;
	readonly top: number;
	/** least value of a logarithmic axis; undefined for a linear one, which begins at 0 */
	readonly bottom: number | undefined;
	readonly lines: readonly ChartLine[];
	readonly bands: readonly ChartBand[];
	/** where a later execution resumed the run */
	readonly resumed: readonly number[];
};
