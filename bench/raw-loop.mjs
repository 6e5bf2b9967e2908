// The yardstick: the same updates by undici's Pool.request alone. No manifest, no check of an answer, no record.
//
//   node bench/raw-loop.mjs ADDRESS ROWS [IN_FLIGHT]
import process from "node:process";
import { Pool } from "undici";

const [address, rows, inFlight = "32"] = process.argv.slice(2);
const pool = new Pool(address, { connections: Number(inFlight), pipelining: 1 });
const headers = { authorization: "Bearer bench-0000000000000000", "content-type": "application/json" };
let next = 1;

async function send() {
	while (next <= Number(rows)) {
		const row = next++;
		const id = row.toString(16).padStart(32, "0");
		const body = `{"meta_fields":{"author":"Ada Lovelace","year":${1800 + (row % 200)},"topic":"engine ${row}"}}`;
		const path = `/api/v1/datasets/00000000000000000000000000000007/documents/${id}`;
		const answer = await pool.request({ method: "PUT", path, headers, body });
		await answer.body.dump();
		if (answer.statusCode !== 200) throw new Error(`status ${answer.statusCode}`);
	}
}

await Promise.all(Array.from({ length: Number(inFlight) }, send));
await pool.close();
