import { metadataText } from "../../json/values.ts";
import type { ShownChange } from "./shown-change.ts";

/** The `--json` line of a document that would change. Text, so that keys keep their order and `__proto__` is one of them. */
export function changeLine({ action, line, datasetId, documentId, file, difference }: ShownChange): string {
	const { add, change, remove } = difference;
	const head = JSON.stringify({
		type: "change",
		action,
		line,
		dataset_id: datasetId,
		document_id: documentId,
		...(file === undefined ? {} : { file }),
	});
	const changed = metadataText(change);
	return `${head.slice(0, -1)},"add":${metadataText(add)},"change":${changed},"remove":${metadataText(remove)}}\n`;
}
