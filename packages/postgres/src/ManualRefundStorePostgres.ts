import { type ManualRefund, ManualRefundStore } from "@agentos/core"
import { Effect, Layer } from "effect"
import { Database } from "./Database.ts"
import * as Parameter from "./Parameter.ts"
import * as Row from "./Row.ts"
import * as Table from "./Table.ts"

const amountOf = { decode: BigInt, encode: String }

const REFUNDS = Table.table("manual_refunds", {
  transferId: Table.text("transfer_id"),
  transaction: Table.text("transaction"),
  network: Table.text("network"),
  asset: Table.text("asset"),
  wallet: Table.text("wallet"),
  amount: Table.asText(amountOf.decode, amountOf.encode).column("amount"),
  receivedTransaction: Table.text("received_transaction"),
  receivedAmount: Table.asText(amountOf.decode, amountOf.encode).column("received_amount"),
  operationId: Table.uuidOrNull("operation_id"),
  createdAt: Table.moment("created_at")
})

const toRefund: (row: Table.Stored<typeof REFUNDS>) => ManualRefund = REFUNDS.toRecord

export const layer: Layer.Layer<ManualRefundStore, never, Database> = Layer.effect(
  ManualRefundStore,
  Effect.map(Database, ({ sql }) => {
    /** The number is `numeric`, so its text would be of the wrong type. */
    const valuesOf = (refund: ManualRefund): Table.Values => ({
      ...Table.valuesOf(REFUNDS.fields, refund),
      amount: Parameter.amount(refund.amount),
      received_amount: Parameter.amount(refund.receivedAmount)
    })

    return ManualRefundStore.of({
      // A refund of this service has its transaction in the operation, and no row here.
      record: (refund) =>
        Row.any(sql`
          insert into manual_refunds ${Table.insertSelect(sql, valuesOf(refund))}
          where not exists (
            select 1 from operations
            where payer = ${Parameter.text(refund.wallet)}
              and lower(refund_transaction) = ${Parameter.text(refund.transaction)}
              and not exists (select 1 from manual_refunds where operation_id = operations.operation_id)
          )
          on conflict do nothing
          returning transfer_id`),
      list: (receivedTransaction) =>
        Row.all(toRefund)(sql<Table.Stored<typeof REFUNDS>>`
          select ${sql.literal(REFUNDS.columns)} from manual_refunds
          ${receivedTransaction === undefined ? sql`` : sql`where received_transaction = ${Parameter.text(receivedTransaction)}`}
          order by transfer_id collate "C"`),
      assign: (transferId, operationId) =>
        Row.any(sql`
          update manual_refunds set operation_id = ${Parameter.uuid(operationId)}
          where transfer_id = ${Parameter.text(transferId)}
            and (operation_id is null or operation_id = ${Parameter.uuid(operationId)})
            and not exists (
              select 1 from manual_refunds
              where operation_id = ${Parameter.uuid(operationId)} and transfer_id <> ${Parameter.text(transferId)}
            )
          returning transfer_id`)
    })
  })
)
