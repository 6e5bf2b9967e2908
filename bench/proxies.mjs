// The measure `pace` by hand, with the real nginx and HAProxy in front of the instant server: a limit of 60 requests a second.
//
//   npm run build && node bench/proxies.mjs [--rows 1500] [--config]
//
// `--config` only prints the configurations. BENCH_PROGRAM names another build. A proxy that is not installed is left out.
import { spawn } from "node:child_process";
import { once } from "node:events";
import { mkdir, readFile, writeFile } from "node:fs/promises";
import { connect } from "node:net";
import { setTimeout as sleep } from "node:timers/promises";
import { parseArgs } from "node:util";
import { tableOf } from "./goals.mjs";
import { freePort } from "./redis.mjs";
import { useOf, WAYS } from "./measures/unknown-limit.mjs";
import { isInstalled, round, World } from "./world.mjs";

const LIMIT = 60;

/** Lines of the logs: milliseconds, status, method. */
const nginx = ({ folder, port, upstream, status }) => `
daemon off;
pid ${folder}/pid;
error_log ${folder}/error.log;
events {}
http {
	log_format bench '$msec $status $request_method';
	access_log ${folder}/access.log bench;
	client_body_temp_path ${folder}/body;
	proxy_temp_path ${folder}/proxy;
	fastcgi_temp_path ${folder}/fastcgi;
	uwsgi_temp_path ${folder}/uwsgi;
	scgi_temp_path ${folder}/scgi;
	limit_req_zone $binary_remote_addr zone=bench:1m rate=${LIMIT}r/s;
	upstream service {
		server ${upstream};
		keepalive 64;
	}
	server {
		listen 127.0.0.1:${port};
		location / {
			limit_req zone=bench burst=10 nodelay;
			${status === 503 ? "# As it comes: status 503." : `limit_req_status ${status};`}
			proxy_pass http://service;
			proxy_http_version 1.1;
			proxy_set_header Connection "";
		}
	}
}
`;

const haproxy = ({ port, upstream }) => `
global
	log stdout format raw local0
defaults
	mode http
	log global
	log-format "%Ts.%ms %ST %HM"
	timeout connect 5s
	timeout client 60s
	timeout server 60s
frontend bench
	bind 127.0.0.1:${port}
	stick-table type ip size 1k expire 1m store http_req_rate(1s)
	http-request track-sc0 src
	http-request deny deny_status 429 if { sc_http_req_rate(0) gt ${LIMIT} }
	default_backend service
backend service
	server one ${upstream}
`;

const PROXIES = [
	{ name: "nginx limit_req as it comes (503)", program: "nginx", isThere: ["-v"], config: nginx, status: 503 },
	{ name: "nginx limit_req_status 429", program: "nginx", isThere: ["-v"], config: nginx, status: 429 },
	{ name: "HAProxy stick-table, deny 429", program: "haproxy", isThere: ["-v"], config: haproxy, status: 429 },
];

const { values } = parseArgs({ options: { rows: { type: "string", default: "1500" }, config: { type: "boolean" } } });
if (values.config === true) {
	const placeholders = { folder: "/tmp/bench", port: 8080, upstream: "127.0.0.1:9380" };
	for (const { name, config, status } of PROXIES) console.log(`# ${name}\n${config({ ...placeholders, status })}`);
} else {
	const world = await World.open();
	try {
		const lines = [];
		for (const proxy of PROXIES.filter(({ program, isThere }) => isInstalled(program, ...isThere))) {
			for (const way of Object.keys(WAYS)) lines.push(await measure(world, proxy, way, Number(values.rows)));
		}
		console.log(tableOf(lines));
	} finally {
		await world.close();
	}
}

async function measure(world, proxy, way, rows) {
	const service = await world.server(rows, { latency: 30 });
	const front = await started(world, proxy, new URL(service.address).host);
	try {
		const options = { isRead: true, exits: [0, 1] };
		const { output } = await world.tag(front, rows, ["--no-undo", "--json", ...WAYS[way]], options);
		const { failed } = JSON.parse(output.trimEnd().split("\n").at(-1));
		const { share, refused } = useOf(await front.updates(), LIMIT);
		return { proxy: proxy.name, rate: way, "share of 60/s": round(share), refused: round(refused, 3), failed };
	} finally {
		await front.close();
		await service.close();
	}
}

/** Starts a proxy at a free port, and reads the updates of its log. */
async function started(world, { program, config, status }, upstream) {
	const port = await freePort();
	const folder = world.path(`proxy-${port}`);
	await mkdir(folder);
	const path = `${folder}/config`;
	await writeFile(path, config({ folder, port, upstream, status }));
	const args = program === "nginx" ? ["-c", path, "-p", folder, "-e", `${folder}/error.log`] : ["-f", path];
	const child = spawn(program, args, { stdio: ["ignore", "pipe", "inherit"] });
	let printed = "";
	child.stdout.on("data", (text) => (printed += text));
	await listening(port);
	return {
		address: `http://127.0.0.1:${port}`,
		updates: async () => {
			const log = program === "nginx" ? await readFile(`${folder}/access.log`, "utf8") : printed;
			const lines = log.split("\n").map((line) => line.split(" "));
			const updates = lines.filter(([, , method]) => method === "PUT");
			return updates
				.map(([seconds, code]) => [Number(seconds) * 1000, Number(code)])
				.toSorted(([left], [right]) => left - right);
		},
		close: async () => {
			const ended = once(child, "exit");
			child.kill("SIGTERM");
			await ended;
		},
	};
}

async function listening(port) {
	for (let tries = 0; tries < 100; tries++) {
		const socket = connect(port, "127.0.0.1");
		const isThere = await once(socket, "connect").then(
			() => true,
			() => false,
		);
		socket.destroy();
		if (isThere) return;
		await sleep(50);
	}
	throw new Error("the proxy did not start");
}
