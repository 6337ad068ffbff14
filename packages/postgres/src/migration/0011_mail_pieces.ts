import { Effect } from "effect"
import { SqlClient } from "effect/sql"

/**
 * Stores large raw mail in pieces of 256 KiB, each written and read by a statement of its own: one statement
 * for a mail of 25 MiB occupies an embedded database for most of a second and takes several times its size in
 * memory.
 *
 * `raw` is the first piece, which is all of a small mail; the others have positions from 1. A mail from before
 * this migration has all its bytes in `raw`, and no `size_bytes`. A staged mail has only the pieces written so
 * far; it is leased far into the future, for servers of versions without staging. Such a server would deliver
 * only the first piece of a mail that a newer one added: stop all of them before this migration.
 */
export const createMailPieces = Effect.gen(function* () {
  const sql = yield* SqlClient.SqlClient
  yield* sql`
    alter table inbound_mails
      add column size_bytes bigint,
      add column staged boolean not null default false`
  yield* sql`
    create table inbound_mail_pieces (
      inbound_mail_id uuid constraint inbound_mail_pieces_mail references inbound_mails on delete cascade,
      position integer,
      bytes bytea not null,
      constraint inbound_mail_pieces_key primary key (inbound_mail_id, position)
    )`
  yield* sql`alter table inbound_mail_pieces alter column bytes set storage external`
})
