import { Effect } from "effect"
import { SqlClient } from "effect/sql"

/**
 * Stores delivery status notifications and feedback reports for audit. A report refers to its message without a foreign
 * key: it stays when the message is deleted. One mail may report on several messages.
 */
export const createMailReports = Effect.gen(function* () {
  const sql = yield* SqlClient.SqlClient
  yield* sql`
    create table mail_reports (
      report_id uuid,
      message_id uuid,
      received_at bigint not null,
      remote_address text not null,
      report text not null,
      constraint mail_reports_key primary key (message_id, report_id)
    )`
})
