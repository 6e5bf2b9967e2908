// The pool by its path: the whole of undici takes twice as long to load, and its other parts are needed only for a proxy.
declare module "undici/lib/dispatcher/pool.js" {
	import { Pool } from "undici";
	export default Pool;
}
