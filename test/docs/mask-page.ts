import { mask } from "../golden/mask.ts";

/** What a command of a page printed, without what is different at each run. */
export function maskPage(text: string): string {
	const plain = withoutBar(text)
		// How wide a number or a path is moves columns, and wraps lines.
		.replace(/\n {20,}/g, " ")
		.replace(/(?<=\S) {2,}/g, "  ")
		// What the machine takes for these is no matter of the page.
		.replace(/^( +(?:ok|warning) +(?:latency|rate)  ).*$/gm, "$1MEASURED")
		.replace(/^rate: .* a second .*\n/gm, "")
		.replace(/[\d.,]+ [kMGT]?B are free/g, "SPACE are free")
		// Whether rows were in flight then, and how far a run came until it was stopped.
		.replace(/; [\d,]+ of these may have been sent, and sending (?:it|them) again is harmless/g, "")
		.replace(/^.*(?:\d pending|^Resuming run ).*$/gm, (line) =>
			line.replace(/\b\d[\d,]*(?= (?:rows|updated|pending|left)\b)/g, "N"),
		);
	return mask(plain, "/home/anna/rag", "/home/anna");
}

/** A terminal shows a bar in the place of these lines, and takes it away. */
export function withoutBar(text: string): string {
	return text.replace(/^\S+ progress: .*\n/gm, "");
}
