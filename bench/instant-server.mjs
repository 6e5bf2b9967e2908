// Answers at once, and keeps what was written, as the client reads some of it back. Speaks as RAGFlow v0.24 does
// (ragflow-put). Prints its address. Only for measurements: it reads just enough of HTTP/1.1 for one client.
//
//   node bench/instant-server.mjs DOCUMENTS [LATENCY [LIMIT [FAILING [GATE]]]]
//
// LATENCY is milliseconds until an answer. LIMIT is the updates a second that it takes, one after another: what comes faster
// waits in a queue, as at a service whose database is the limit; 0 is no limit. Every FAILING-th update is answered 503, once.
// GATE is JSON, the options of gate.mjs: a limit that refuses updates. GET /updates gives when each came, and its status.
// GET /arrivals gives, and forgets, when requests arrived (milliseconds of its own clock), how many were in flight at most, and
// for how many milliseconds at most the server stood still: what came meanwhile arrived late, and all at once.
// GET /requests gives how many requests came since then, and how many updates since GET /forget. GET /counts also gives how many
// documents were updated never, once and oftener since then.
// The documents are numbered in hexadecimal from 1. The dataset whose id ends in f claims a hundred times as many, so that
// reading each document by itself takes fewer requests than a list.
import { createServer } from "node:net";
import { monitorEventLoopDelay } from "node:perf_hooks";
import process from "node:process";
import { Gate, pageOf } from "./gate.mjs";

const documents = Number(process.argv[2]);
const latency = Number(process.argv[3] ?? 0);
/** milliseconds that one update takes of the queue */
const turn = Number(process.argv[4] ?? 0) === 0 ? 0 : 1000 / Number(process.argv[4]);
const failing = Number(process.argv[5] ?? 0);
const gate = process.argv[6] === undefined ? undefined : new Gate(JSON.parse(process.argv[6]));
let updates = 0;
/** when the queue is empty */
let free = 0;
let arrivals = [];
/** whether no request has come since the start, or since GET /forget */
let isForgotten = true;
/** Times that are kept: no measure of times has more requests, and ten million of them would not fit in one answer. */
const MOST_ARRIVALS = 2_000_000;
/** milliseconds between two looks whether the server stands still */
const STALL_EVERY_MS = 5;
let requests = 0;
let stored = 0;
/** how often each document was updated, by its number; 255 stands for more */
const updatesOf = new Uint8Array(documents + 1);
const stalls = monitorEventLoopDelay({ resolution: STALL_EVERY_MS });
stalls.enable();
let inFlight = 0;
let mostInFlight = 0;
const METADATA = '{"author":"Grace Hopper","year":1952,"topic":"compilers"}';
/** the body of the last update, by document, in two generations: a run of millions must not fill the memory */
let [written, writtenBefore] = [new Map(), new Map()];
/** bodies of a generation. A client that reads back what it wrote last finds it. */
const GENERATION = 100_000;

function keep(id, body) {
	if (written.size >= GENERATION) [written, writtenBefore] = [new Map(), written];
	written.set(id, body);
	stored += 1;
	// The documents are far fewer than eight hexadecimal digits count.
	const number = Number.parseInt(id.slice(-8), 16);
	if (updatesOf[number] < 255) updatesOf[number] += 1;
}

function counts() {
	const seen = { never: 0, once: 0, oftener: 0 };
	for (const count of updatesOf.subarray(1)) seen[count === 0 ? "never" : count === 1 ? "once" : "oftener"] += 1;
	return { requests, updates: stored, ...seen };
}

/** What the measures ask, beside the API. @returns undefined for any other path */
function asked(path) {
	if (path === "/counts") return counts();
	if (path === "/requests") return { requests, updates: stored };
	if (path === "/updates") return gate?.updates ?? [];
	if (path !== "/arrivals" && path !== "/forget") return undefined;
	const answered = path === "/forget" ? {} : { arrivals, mostInFlight, stall: stalls.max / 1e6 };
	stalls.reset();
	[arrivals, mostInFlight, requests] = [[], 0, 0];
	if (path === "/forget") {
		isForgotten = true;
		updatesOf.fill(0);
		stored = 0;
	}
	return answered;
}

/** The envelope that answers one request. */
function answer(method, path, body) {
	const [, dataset, id] = /datasets\/([0-9a-f]+)(?:\/documents\/([0-9a-f]+))?/.exec(path) ?? [];
	if (method === "PATCH") return '{"code":100,"data":null,"message":"<MethodNotAllowed \'405: Method Not Allowed\'>"}';
	if (method === "PUT") {
		if (/^0+$/.test(id)) return '{"code":102,"message":"You don\'t own the document."}';
		keep(id, body);
		return '{"code":0}';
	}
	if (dataset === undefined) {
		return '{"code":0,"data":[{"id":"7","name":"bench","chunk_method":"naive","embedding_model":"m","parser_config":{}}],"total_datasets":1}';
	}
	const query = new URLSearchParams(path.slice(path.indexOf("?")));
	const listed = query.has("id") ? [query.get("id")] : page(Number(query.get("page")), Number(query.get("page_size")));
	const total = query.has("id") ? 1 : documents * (dataset.endsWith("f") ? 100 : 1);
	const docs = listed.map((shown) => entry(shown, dataset)).join();
	return `{"code":0,"data":{"docs":[${docs}],"total":${total}}}`;
}

function page(number, size) {
	const first = (number - 1) * size + 1;
	const length = Math.max(0, Math.min(size, documents - first + 1));
	return Array.from({ length }, (_, index) => (first + index).toString(16).padStart(32, "0"));
}

function entry(id, dataset) {
	const body = written.get(id) ?? writtenBefore.get(id);
	const metadata = body === undefined ? METADATA : JSON.stringify(JSON.parse(body).meta_fields);
	return `{"id":"${id}","name":"${id}.txt","dataset_id":"${dataset}","run":"DONE","size":100,"meta_fields":${metadata}}`;
}

function response(text) {
	return `HTTP/1.1 200 OK\r\nContent-Type: application/json\r\nContent-Length: ${text.length}\r\n\r\n${text}`;
}

const UNAVAILABLE = "HTTP/1.1 503 Service Unavailable\r\nContent-Length: 0\r\n\r\n";

/** Milliseconds until an update that arrives now has had its turn. */
function queued(now) {
	free = Math.max(free, now) + turn;
	return free - now;
}

const server = createServer((socket) => {
	let input = "";
	socket.setNoDelay(true);
	socket.on("error", () => socket.destroy());
	socket.on("data", (bytes) => {
		// latin1: one character is one byte, as Content-Length counts
		input += bytes.toString("latin1");
		let output = "";
		for (;;) {
			const end = input.indexOf("\r\n\r\n");
			if (end < 0) break;
			const head = input.slice(0, end);
			const length = Number(/\r\ncontent-length: *(\d+)/i.exec(head)?.[1] ?? 0);
			if (input.length < end + 4 + length) break;
			const [method, path] = head.split(" ", 2);
			const body = input.slice(end + 4, end + 4 + length);
			input = input.slice(end + 4 + length);
			const control = path.startsWith("/api/") ? undefined : asked(path);
			if (control !== undefined) {
				output += response(JSON.stringify(control));
				continue;
			}
			const now = performance.now();
			requests += 1;
			// Its own start is none that a request met.
			if (isForgotten) stalls.reset();
			isForgotten = false;
			if (arrivals.length < MOST_ARRIVALS) arrivals.push(now);
			const status = method === "PUT" ? (gate?.status(now) ?? 200) : 200;
			if (status !== 200) {
				output += pageOf(status);
				continue;
			}
			const fails = failing > 0 && method === "PUT" && (updates += 1) % failing === 0;
			const text = fails ? UNAVAILABLE : response(answer(method, path, body));
			const wait = latency + (method === "PUT" && turn > 0 ? queued(now) : 0);
			if (wait === 0) {
				output += text;
				continue;
			}
			inFlight += 1;
			mostInFlight = Math.max(mostInFlight, inFlight);
			setTimeout(() => {
				inFlight -= 1;
				socket.write(text, "latin1");
			}, wait);
		}
		if (output !== "") socket.write(output, "latin1");
	});
});
server.listen(0, "127.0.0.1", () => console.log(`http://127.0.0.1:${server.address().port}`));
