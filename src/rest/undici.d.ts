// Parts of undici by their paths: the whole takes twice as long to load, and its other parts are needed only for a proxy.
declare module "undici/lib/core/symbols.js" {
	const kConnect: unique symbol;
	const kConnected: unique symbol;
	const kConnecting: unique symbol;
	const kHTTPContext: unique symbol;
	const symbols: {
		readonly kConnect: typeof kConnect;
		readonly kConnected: typeof kConnected;
		readonly kConnecting: typeof kConnecting;
		readonly kHTTPContext: typeof kHTTPContext;
	};
	export default symbols;
}

declare module "undici/lib/dispatcher/client.js" {
	import type { Client } from "undici";
	import type symbols from "undici/lib/core/symbols.js";

	/** With what undici's own pool and its tests use: undici opens a connection for its first request otherwise. */
	export default class OpenableClient extends Client {
		/** Opens the connection. Only while there is none, not even one that is being opened or closed. */
		[symbols.kConnect](onOpen: () => void): void;
		readonly [symbols.kConnected]: boolean;
		readonly [symbols.kConnecting]?: boolean;
		readonly [symbols.kHTTPContext]: object | null;
	}
}

declare module "undici/lib/core/connect.js" {
	import { buildConnector } from "undici";
	export default buildConnector;
}
