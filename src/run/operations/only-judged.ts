import { RestError } from "../../rest/errors.ts";
import type { RowBytes } from "../journal/row-states.ts";
import type { SentLog } from "./sent-log.ts";

/**
 * A log that lets nothing out for rows which the pass of a policy could not judge, as their documents were not to be seen
 * then: whatever a list shows by now.
 *
 * @param unseen such rows are set
 */
export function onlyJudged(log: SentLog, unseen: Pick<RowBytes, "get">): SentLog {
	return {
		earlier: (index) => log.earlier(index),
		sending: async (item, sending) => {
			if (unseen.get(item.index) === 0) return log.sending(item, sending);
			const text = "its document could not be looked at when the policy was checked; nothing was sent";
			throw new RestError(text, { kind: "rejected", code: "POLICY_UNSEEN" });
		},
		stored: (item, document) => log.stored(item, document),
	};
}
