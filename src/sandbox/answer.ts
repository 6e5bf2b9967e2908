import type { IncomingMessage, ServerResponse } from "node:http";
import { setTimeout as sleep } from "node:timers/promises";
import { Refusal, refusalText, successText } from "./envelope.ts";
import { routeOf } from "./router.ts";
import type { Service } from "./routes/call.ts";

/** Works one request off: guard, route, latency, answer. Never rejects. */
export async function answer(
	request: IncomingMessage,
	response: ServerResponse,
	{ service, guard }: { service: Service; guard: (request: IncomingMessage) => void },
): Promise<void> {
	const { latency, errorStyle } = service.settings;
	let status = 200;
	let text: string;
	try {
		guard(request);
		const { route, call } = routeOf(request);
		text = successText(await route(call, service));
	} catch (error) {
		const refusal = error instanceof Refusal ? error : new Refusal(500, faultText(error));
		for (const [name, value] of Object.entries(refusal.headers)) response.setHeader(name, value);
		// A body that was refused half-way is not waited for; the connection ends with the answer.
		if (refusal.code === 413) response.setHeader("connection", "close");
		const always = refusal.code === 401 || refusal.code === 403;
		status = errorStyle === "status" || always ? refusal.code : 200;
		text = refusalText(refusal);
	}
	// A timer each: answers to concurrent requests are held back side by side, as a distant service's are.
	// They do not keep the process: when the sandbox is closed nobody waits for them any more.
	if (latency > 0) await sleep(latency, undefined, { ref: false });
	response.writeHead(status, {
		"content-type": "application/json; charset=utf-8",
		"content-length": Buffer.byteLength(text),
	});
	response.end(text);
	// What is left of a body that was not read would hold the connection up.
	request.resume();
}

function faultText(error: unknown): string {
	return `the sandbox failed: ${error instanceof Error ? error.message : String(error)}`;
}
