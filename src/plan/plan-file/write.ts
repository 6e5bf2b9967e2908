import { createHash } from "node:crypto";
import { changeLine, countsText, footerLine, headerLine } from "./encode.ts";
import type { PlanCounts, PlanHeader, PlannedChange } from "./types.ts";

/** Makes the text of a plan, line after line. */
export class PlanText {
	readonly #hash = createHash("sha256");
	#changes = 0;

	header(header: PlanHeader): string {
		return this.#line(headerLine(header));
	}

	change(planned: PlannedChange): string {
		this.#changes += 1;
		return this.#line(changeLine(planned));
	}

	footer({ unchanged, failed }: Omit<PlanCounts, "changes">): string {
		const counts = { changes: this.#changes, unchanged, failed };
		return footerLine(counts, this.#hash.copy().update(countsText(counts)).digest("hex"));
	}

	#line(text: string): string {
		this.#hash.update(text);
		return text;
	}
}
