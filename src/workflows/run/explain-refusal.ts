import type { Row } from "../../manifest/types.ts";
import type { Operation } from "../../run/operations/operation.ts";
import { rowErrorOf } from "../../run/operations/prepare-update.ts";
import { restErrorOf } from "../../run/retry/request.ts";
import { refuseUnlisted } from "../dataset.ts";
import type { Run } from "../open-run.ts";

/**
 * The operation, but a refusal before any row succeeded ends the run where the service does not list the row's dataset: the
 * words of a refusal are the same for a dataset that is not there and for one that the key may not change.
 */
export function explainRefusal<SourceRow extends Row>(run: Run, operation: Operation<SourceRow>): Operation<SourceRow> {
	const listed = new Map<string, Promise<void>>();
	let hasSucceeded = false;
	const attempt: Operation<SourceRow> = async (row, request, memory) => {
		try {
			const settled = await operation(row, request, memory);
			hasSucceeded = true;
			return settled;
		} catch (error) {
			if (hasSucceeded || rowErrorOf(error)?.code !== "FORBIDDEN") throw error;
			const { datasetId } = row;
			const isListed = listed.get(datasetId) ?? refuseUnlisted(run, new Map([[datasetId, undefined]]));
			listed.set(datasetId, isListed);
			await isListed.catch((unlisted: unknown) => {
				if (restErrorOf(unlisted) === undefined) throw unlisted;
			});
			throw error;
		}
	};
	return Object.assign(attempt, operation);
}
