/** A look at a run: what the server has taken, and what the client has used until then. */
export type Sample = { readonly updates: number; readonly bytes?: number; readonly cpuSeconds?: number };

export function growthPerRow(
	samples: readonly Sample[],
	member: "bytes" | "cpuSeconds",
	range: { readonly from: number; readonly to: number },
): number | undefined;
