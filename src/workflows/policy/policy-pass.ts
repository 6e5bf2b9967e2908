import type { App, Session, Settings } from "../../app.ts";
import type { RunFlags } from "../../flags/flags.ts";
import type { Row } from "../../manifest/types.ts";
import type { RowBytes } from "../../run/journal/row-states.ts";
import type { Stop } from "../../run/types.ts";
import type { PolicyChecker } from "./policy-checker.ts";

/** What a pass over the rows is done with. */
export type PassContext = {
	readonly flags: RunFlags;
	readonly session: Session;
	readonly settings: Settings;
	readonly app: App;
	/** rows that could not be looked at are set in it: they were not judged, and are not to be sent */
	readonly unseen: RowBytes;
};

/**
 * Shows every row to the watch, and sends nothing that writes. `rows` may be read more than once.
 *
 * @returns why it ended before the last row
 */
export type PolicyPass<SourceRow extends Row = Row> = (
	rows: () => AsyncIterable<SourceRow>,
	watch: PolicyChecker,
	context: PassContext,
) => Promise<Stop | undefined>;
