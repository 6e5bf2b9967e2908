import { usageError } from "../../errors.ts";
import type { DocumentCall } from "../../rest/flavours.ts";
import type { Request } from "../types.ts";
import type { Service } from "./service.ts";

const WORDS: Readonly<Record<DocumentCall, string>> = {
	download: "gives the bytes of a document",
	parse: "starts the parsing of a document",
	rename: "renames a document",
};

/**
 * Ends a command whose calls the service does not have, before anything is sent but the probes that detect its flavour.
 *
 * @param what the command or its option: `docs parse`, `--on-existing replace`
 * @throws CliError (usage)
 */
export async function requireCall(
	{ service, request }: { readonly service: Pick<Service, "known">; readonly request: Request },
	call: DocumentCall,
	what: string,
): Promise<void> {
	const { flavour } = (await service.known(request)).dialect;
	if (flavour.calls.includes(call)) return;
	const text = `${what}: this service documents no such call: ${flavour.servers} has none that ${WORDS[call]}; nothing was sent`;
	throw usageError(
		text,
		"If it is a RAGFlow server, name its kind: --flavour ragflow-put, ragflow-patch or ragflow-1.0.",
	);
}
