/** Milliseconds, and the status of an update that came then. */
export type Update = readonly [at: number, status: number];

export type GateOptions = {
	readonly rate?: number;
	readonly burst?: number;
	readonly status?: number;
	readonly changes?: readonly { readonly after: number; readonly rate: number }[];
	readonly failing?: number;
};

export class Gate {
	constructor(options?: GateOptions);
	readonly updates: readonly Update[];
	status(now: number): number;
}
