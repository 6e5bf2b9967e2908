import type { Socket } from "node:net";
import { listen } from "./listen.ts";

/** What a proxy answers. `nth` counts the requests of that method; `pass` sends the request on and gives its answer. */
export type Alter = (
	asked: { readonly method: string; readonly nth: number; readonly socket: Socket },
	pass: () => Promise<string>,
) => Promise<string>;

/** The address of a proxy in front of a service. It ends with the test. */
export async function proxy(service: { readonly url: string }, alter: Alter): Promise<string> {
	const counts = new Map<string, number>();
	const { url } = await listen((request, response) => {
		const { method = "", headers, socket } = request;
		const nth = (counts.get(method) ?? 0) + 1;
		counts.set(method, nth);
		const answered = async (): Promise<void> => {
			const sent = { authorization: headers.authorization ?? "", "content-type": headers["content-type"] ?? "" };
			const body = method === "GET" ? {} : { body: Buffer.concat(await request.toArray()) };
			const pass = async (): Promise<string> =>
				(await fetch(`${service.url}${request.url}`, { method, headers: sent, ...body })).text();
			response.end(await alter({ method, nth, socket }, pass));
		};
		void answered();
	});
	return url;
}
