import type { Session } from "../../app.ts";
import type { Row } from "../../manifest/types.ts";
import { needsPresent } from "../../plan/policy.ts";
import { READS_IN_FLIGHT } from "../../run/rate/concurrency.ts";
import { rowErrorOf } from "../../run/operations/prepare-update.ts";
import { inOrder } from "../../run/ordered.ts";
import { rowsByDataset } from "../../run/documents/listed-datasets.ts";
import { DocumentSource } from "../../run/documents/document-source.ts";
import { timeIsUp } from "../../run/stop/reasons.ts";
import type { Effect } from "../effect.ts";
import { unreadable } from "../readable.ts";
import type { PolicyPass } from "./policy-pass.ts";

/** How a row is looked at, as in a dry run. */
type LookPass<Item, SourceRow extends Row> = {
	readonly itemOf: (row: SourceRow) => Item;
	readonly see: (item: Item, session: Session, present: DocumentSource) => Promise<Effect>;
	/** whether rows are compared with what documents have */
	readonly compares?: boolean;
};

/** Looks at what each row would do. One that can't be looked at, as its document is not there, is the run's business. */
export function policyPrescan<Item, SourceRow extends Row = Row>({
	itemOf,
	see,
	compares = true,
}: LookPass<Item, SourceRow>): PolicyPass<SourceRow> {
	return async (rows, watch, { flags, session, settings, app, unseen }) => {
		const { clock, io } = app;
		if (settings.policy !== undefined && compares && needsPresent(settings.policy.value)) {
			const what = `the policy of ${settings.policy.origin}`;
			const hint = "The policy can't be checked without metadata: use a profile without such a policy.";
			const stop = await unreadable(what, { read: rows }, session, flags, app, hint);
			if (stop !== undefined) return stop;
		}
		io.note(`The policy of ${settings.policy?.origin} is checked on all rows before the first is sent.`);
		const folder = (): Promise<string> => app.temporaryFolder(settings);
		const present = new DocumentSource({ rows: () => rowsByDataset(rows()), folder, clock });
		const started = clock.now();
		const { concurrency, maxDuration = Number.POSITIVE_INFINITY } = flags;
		const look = async (row: SourceRow): Promise<{ readonly line: number; readonly seen: Effect | undefined }> => {
			const { line, index } = row;
			try {
				return { line, seen: await see(itemOf(row), session, present) };
			} catch (error) {
				if (rowErrorOf(error) === undefined) throw error;
				unseen.set(index, 1);
				return { line, seen: undefined };
			}
		};
		try {
			for await (const { line, seen } of inOrder(
				rows(),
				look,
				concurrency === "auto" ? READS_IN_FLIGHT : concurrency,
			)) {
				if (seen !== undefined) await watch.see(line, seen, session.service.api.dialect.flavour.normalise);
				if (clock.now() - started > maxDuration) return timeIsUp(maxDuration);
			}
			return undefined;
		} finally {
			await present.close();
		}
	};
}

/** Rows that make documents: their metadata tells all. */
export const creationPass: PolicyPass = async (rows, watch) => {
	for await (const { line, metadata } of rows()) await watch.creation(line, metadata);
	return undefined;
};

/** Rows whose documents go: only their number counts. */
export const removalPass: PolicyPass = async (rows, watch) => {
	for await (const { line } of rows()) watch.change(line);
	return undefined;
};
