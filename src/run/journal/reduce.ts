import { JournalUnreadable, newer } from "./errors.ts";
import { type ReadRecord } from "./records.ts";
import { type Chunks, type Damage, scan } from "./scan.ts";
import { SentState } from "./sent-state.ts";
import { JournalState } from "./state.ts";

/** What the good records of a file come to, and where they end. What is behind is a torn write. */
export type Reduced<State> = { readonly state: State; readonly goodLength: number };

/**
 * What the outcomes of a run come to.
 *
 * @param file its path, for messages
 * @throws JournalUnreadable where it is damaged in its middle, or of a newer format
 */
export async function reduceJournal(chunks: Chunks, file: string): Promise<Reduced<JournalState>> {
	const state = new JournalState();
	const goodLength = await reduce(chunks, file, (record) => {
		if (record.kind === "newer") throw newer(record.version, file);
		return state.apply(record);
	});
	return { state, goodLength };
}

/**
 * Which rows of a run may have been sent.
 *
 * @param rows of the manifest
 * @throws JournalUnreadable where it is damaged in its middle
 */
export async function reduceSent(chunks: Chunks, file: string, rows: number): Promise<Reduced<SentState>> {
	const state = new SentState(rows);
	const goodLength = await reduce(chunks, file, (record) => state.apply(record));
	return { state, goodLength };
}

/**
 * Reads the records of those lines that are wanted, and looks at the checksum alone of all others: what one document or
 * row has to do with a run is a few lines of a file that may have millions.
 *
 * @throws JournalUnreadable where the file is damaged in its middle, or of a newer format
 */
export async function readWanted(
	chunks: Chunks,
	file: string,
	isWanted: (bytes: Uint8Array) => boolean,
	onRecord: (record: ReadRecord) => void,
): Promise<void> {
	const { end } = await scan(
		chunks,
		(record) => {
			if (record.kind === "newer") throw newer(record.version, file);
			onRecord(record);
			return undefined;
		},
		isWanted,
	);
	if (typeof end === "object") throw damaged(end, file);
}

async function reduce(
	chunks: Chunks,
	file: string,
	onRecord: (record: ReadRecord) => string | undefined,
): Promise<number> {
	const { goodLength, end } = await scan(chunks, onRecord);
	if (typeof end === "object") throw damaged(end, file);
	return goodLength;
}

function damaged({ corrupt, record, rule }: Damage, file: string): JournalUnreadable {
	const place = `byte ${corrupt.toLocaleString("en")} (record ${record.toLocaleString("en")})`;
	const why = rule === undefined ? "" : `: ${rule}`;
	return new JournalUnreadable(`${file} is damaged at ${place}${why}`, "corrupt", { file, byte: corrupt, record });
}
