import { Refusal, refusalText, successText } from "./envelope.ts";
import { guard } from "./guard.ts";
import { type Dialect, faultText, jsonReply } from "./reply.ts";
import { routeOf } from "./router.ts";

/** The API to the letter of its documentation. */
export function documented(key: string): Dialect {
	const check = guard(key);
	return async (request, service) => {
		try {
			check(request);
			const { route, call } = routeOf(request);
			if (service.databaseAway) throw new Refusal(503, "the database can't be reached");
			return jsonReply(200, successText(await route(call, service)));
		} catch (error) {
			const refusal = error instanceof Refusal ? error : new Refusal(500, faultText(error));
			// A body that was refused half-way is not waited for; the connection ends with the answer.
			const headers = refusal.code === 413 ? { ...refusal.headers, connection: "close" } : refusal.headers;
			const always = refusal.code === 401 || refusal.code === 403;
			const status = service.settings.errorStyle === "status" || always ? refusal.code : 200;
			return jsonReply(status, refusalText(refusal), headers);
		}
	};
}
