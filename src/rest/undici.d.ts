// Parts of undici by their paths: the whole takes twice as long to load, and its other parts are needed only for a proxy.
declare module "undici/lib/dispatcher/client.js" {
	import { Client } from "undici";
	export default Client;
}

declare module "undici/lib/core/connect.js" {
	import { buildConnector } from "undici";
	export default buildConnector;
}
