import { randomBytes } from "node:crypto";
import { setImmediate } from "node:timers/promises";
import { afterEach, describe, expect, test } from "vitest";
import type { ByteSink } from "../../src/rest/types.ts";
import { answer, apiFor, Cleanup, rawServer, type RawServer, rejection, type Script } from "./raw-server.ts";
import { ragflow1, ragflowPatch } from "../support/flavours.ts";

const cleanup = new Cleanup();
afterEach(() => cleanup.run());

const serve = async (script: Script): Promise<RawServer> => cleanup.add(await rawServer(script));
const document = { datasetId: "ds", id: "d1", size: 4 };
const ATTACHED = "HTTP/1.1 200 OK\r\ncontent-disposition: attachment; filename=a.json\r\n";
const refusal = (message: string): string => answer(JSON.stringify({ code: 102, message }));

/** Downloads the document from a server that answers so: what the sink took, and how it ended. */
async function download(
	script: Script,
	{ size = 4, sink, flavour = ragflowPatch }: { size?: number; sink?: ByteSink; flavour?: typeof ragflowPatch } = {},
): Promise<{ readonly bytes: Buffer; readonly end: unknown; readonly server: RawServer }> {
	const server = await serve(script);
	const api = cleanup.add(apiFor(server.baseUrl, { dialect: { flavour, form: "json" } }));
	const taken: Uint8Array[] = [];
	const gather: ByteSink = (bytes) => Promise.resolve(void taken.push(bytes));
	const end = await api.downloadDocument({ ...document, size }, sink ?? gather).catch((error: unknown) => error);
	return { bytes: Buffer.concat(taken), end, server };
}

describe("a download", () => {
	test("asks for the document, and for no JSON", async () => {
		const { server } = await download((socket) => socket.write(answer("four", ATTACHED)));
		const [request = ""] = server.requests;
		expect(request).toMatch(/^GET \/api\/v1\/datasets\/ds\/documents\/d1 HTTP\/1\.1\r\n/);
		expect(request).toContain("accept: */*\r\n");
		expect(request).not.toContain("application/json");
	});

	test("gives a JSON file that looks like a refusal byte for byte", async () => {
		const text = '{"code":102,"message":"You do not own the dataset."}';
		const head = `${ATTACHED}content-type: application/json\r\n`;
		const { bytes, end } = await download((socket) => socket.write(answer(text, head)));
		expect([bytes.toString(), end]).toEqual([text, text.length]);
	});

	test("counts the bytes that came, for a progress of large files", async () => {
		const moved: number[] = [];
		const server = await serve((socket) => socket.write(answer("four", ATTACHED)));
		const dialect = { flavour: ragflowPatch, form: "json" } as const;
		const api = cleanup.add(apiFor(server.baseUrl, { dialect, onBytes: (bytes) => moved.push(bytes) }));
		await api.downloadDocument(document, async () => undefined);
		expect(moved.reduce((sum, bytes) => sum + bytes, 0)).toBe(4);
	});

	test("takes a refusal of status 200 for no file", async () => {
		const said = await download((socket) => socket.write(refusal("The dataset not own the document d1.")));
		expect(said.end).toMatchObject({ name: "RestError", kind: "rejected", code: "NOT_FOUND" });
		expect(said.bytes).toHaveLength(0);
	});

	test("takes a success without a file for no file", async () => {
		const { end, bytes } = await download((socket) => socket.write(answer('{"code":0,"data":[]}')));
		expect(end).toMatchObject({ kind: "ambiguous", code: "BAD_DATA" });
		expect(bytes).toHaveLength(0);
	});

	test.each([
		[ragflowPatch, "This file is empty."],
		[ragflow1, "this document is empty"],
	])("reads %j as 0 bytes of an empty document, and as lost bytes of any other", async (flavour, message) => {
		const script: Script = (socket) => socket.write(refusal(message));
		expect(await download(script, { size: 0, flavour })).toMatchObject({ end: 0, bytes: Buffer.alloc(0) });
		expect((await download(script, { size: 4, flavour })).end).toMatchObject({ kind: "rejected", code: "CODE_102" });
	});

	test("holds the next bytes until the sink has taken the last: memory does not hold a file", async () => {
		const file = randomBytes(3_000_000);
		const taken: Buffer[] = [];
		let [active, most] = [0, 0];
		const sink: ByteSink = async (bytes) => {
			most = Math.max(most, (active += 1));
			await setImmediate();
			taken.push(Buffer.from(bytes));
			active -= 1;
		};
		const head = `${ATTACHED}content-length: ${file.length}\r\n\r\n`;
		const script: Script = (socket) => {
			socket.write(head);
			socket.write(file);
		};
		const { end } = await download(script, { sink });
		expect([end, most, Buffer.concat(taken).equals(file)]).toEqual([file.length, 1, true]);
	});

	test("may be longer than any other answer", async () => {
		const file = Buffer.alloc(2 * 1024 * 1024, "a");
		const { end } = await download((socket) => socket.write(answer(file.toString(), ATTACHED)));
		expect(end).toBe(file.length);
	});

	test("that is cut is no success", async () => {
		const script: Script = (socket) => socket.end(`${ATTACHED}content-length: 9\r\n\r\nfour`);
		expect((await download(script)).end).toMatchObject({ kind: "ambiguous" });
	});

	test("ends with the error of a sink that can take no more, and its connection with it", async () => {
		const full = new Error("no space left on device");
		const { end, server } = await download((socket) => socket.write(answer("four", ATTACHED)), {
			sink: () => Promise.reject(full),
		});
		expect(end).toBe(full);
		expect(server.requests).toHaveLength(1);
	});

	test("ends when the command is stopped, though the sink still writes", async () => {
		const server = await serve((socket) => socket.write(`${ATTACHED}content-length: 9\r\n\r\nfour`));
		const api = cleanup.add(apiFor(server.baseUrl));
		const sink: ByteSink = () => new Promise(() => void api.close());
		expect(await rejection(api.downloadDocument(document, sink))).toMatchObject({ kind: "ambiguous" });
	});
});
