import { type Chunks, LineSplitter, recordOfLine } from "./scan.ts";

/** A write to a document, and the number of the execution that sent it. */
export type SentDocument = {
	readonly row: number;
	readonly datasetId: string;
	readonly documentId: string;
	readonly order: number;
};

/** The good part of a file, and the number of the first execution. */
export type SentFile = { readonly goodLength: number; readonly firstOrder: number };

/** The beginning of nearly every line of `sent.jsonl`, with ids that need no escapes. */
const PLAIN =
	/^\{"c":"[0-9a-f]{8}","k":"s","i":(\d{1,15})(?:,"l":\d+)?,"d":"([\w .:~-]*)","id":"([\w .:~-]+)","w":"(?:update|remove)"/;

/** Bytes within which that beginning ends: two ids of 256 characters and some numbers. */
const BEGINNING = 700;

/** Calls back with the document of each record of `sent.jsonl`, in the order in which they were written. */
export async function eachSentDocument(
	chunks: Chunks,
	{ goodLength, firstOrder }: SentFile,
	onDocument: (document: SentDocument) => void,
): Promise<void> {
	const splitter = new LineSplitter();
	/** of uploads that are not known to be stored yet: their first record has no document */
	const datasets = new Map<number, string>();
	let order = firstOrder;
	for await (const chunk of chunks) {
		for (const line of splitter.push(chunk)) {
			if (line.next > goodLength) return;
			const plain = line.bytes === undefined ? undefined : plainDocument(line.bytes, order);
			if (plain !== undefined) {
				onDocument(plain);
				continue;
			}
			const record = recordOfLine(line);
			if (record?.kind === "execution") ({ order } = record);
			if (record?.kind === "stored") {
				const { row, documentId } = record;
				onDocument({ row, documentId, datasetId: datasets.get(row) ?? "", order });
			}
			if (record?.kind !== "sent") continue;
			const { row, datasetId, documentId } = record;
			if (documentId === "") datasets.set(row, datasetId);
			else onDocument({ row, datasetId, documentId, order });
		}
	}
}

function plainDocument(bytes: Uint8Array, order: number): SentDocument | undefined {
	const length = Math.min(bytes.length, BEGINNING);
	const found = PLAIN.exec(Buffer.from(bytes.buffer, bytes.byteOffset, length).toString("latin1"));
	const [, row, datasetId, documentId] = found ?? [];
	if (row === undefined || datasetId === undefined || documentId === undefined) return undefined;
	return { row: Number(row), datasetId, documentId, order };
}
