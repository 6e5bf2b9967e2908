// The Pool alone loads twice as fast as the whole of undici, whose other parts are needed only for a proxy.
declare module "undici/lib/dispatcher/pool.js" {
	import { Pool } from "undici";
	export default Pool;
}
