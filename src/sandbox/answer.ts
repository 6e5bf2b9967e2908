import type { IncomingMessage, ServerResponse } from "node:http";
import { setTimeout as sleep } from "node:timers/promises";
import type { Reply } from "./reply.ts";
import type { Service } from "./routes/call.ts";
import type { ActiveFlavour } from "./active-flavour.ts";

export type Serving = { readonly service: Service; readonly voice: ActiveFlavour };

/** Works one request off in the flavour of the moment: reply, latency, answer. Never rejects. */
export async function answer(
	request: IncomingMessage,
	response: ServerResponse,
	{ service, voice }: Serving,
): Promise<void> {
	await sendReply(response, await voice.dialect(request, service), service.settings.latency);
	// What is left of a body that was not read would hold the connection up.
	request.resume();
}

/** Sends an answer, so many milliseconds late. */
export async function sendReply(response: ServerResponse, reply: Reply, latency: number): Promise<void> {
	const { status, headers, type, text } = reply;
	for (const [name, value] of Object.entries(headers)) response.setHeader(name, value);
	// A timer each: answers to concurrent requests are held back side by side, as a distant service's are.
	// They do not keep the process: when the sandbox is closed nobody waits for them any more.
	if (latency > 0) await sleep(latency, undefined, { ref: false });
	response.writeHead(status, { "content-type": type, "content-length": Buffer.byteLength(text) });
	response.end(text);
}
