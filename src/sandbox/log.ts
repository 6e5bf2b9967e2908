/** Takes one line a request. */
export type Log = (line: string) => void;

/**
 * `TIME METHOD PATH STATUS`, written when the request is answered. The time is that of its arrival, because that is
 * what a rate is counted from; `-` stands for the status where the client did not get one.
 */
export function logLine(
	arrived: number,
	{ method, url }: { readonly method?: string | undefined; readonly url?: string | undefined },
	status: number | null,
): string {
	return `${new Date(arrived).toISOString()} ${method ?? "-"} ${url ?? "-"} ${status ?? "-"}`;
}
