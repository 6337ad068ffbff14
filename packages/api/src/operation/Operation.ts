import { type CatalogEntry, type OperationName, operationEntry } from "@agentos/core"
import { Predicate, Schema } from "effect"
import { HttpApiSchema } from "effect/http-api"

/** An object without properties; any property is refused. */
const Nothing = Schema.Record(Schema.String, Schema.Never)

/** The input of an operation that accepts none. Spread it, and override the parts that the operation accepts. */
export const NO_INPUT = { params: Nothing, query: Nothing, payload: Nothing }

type AnyCodec = Schema.Codec<unknown, unknown>

/** The output of an operation that returns bytes instead of the success envelope. */
export const bytes = (contentType: string) => HttpApiSchema.StreamUint8Array({ contentType })
export type Bytes = HttpApiSchema.StreamUint8Array

export const isBytes = (data: unknown): data is Bytes => Predicate.isTagged(data, "StreamUint8Array")

/** The schemas of an operation's input and output. */
export interface OperationShape<
  Params extends AnyCodec = AnyCodec,
  Query extends AnyCodec = AnyCodec,
  Payload extends AnyCodec = AnyCodec,
  Data extends AnyCodec = AnyCodec
> {
  /** Path parameters. */
  readonly params: Params
  readonly query: Query
  /** The JSON body. */
  readonly payload: Payload
  /** `data` of the success envelope; or `bytes` for a response without an envelope. */
  readonly data: Data
  /** 201 if the operation creates something. */
  readonly status: 200 | 201
}

/** A body that the server accepts, apart from its ids, and `data` of its response. Both as JSON. */
export interface OperationExample<Payload = unknown, Data = unknown> {
  readonly payload: Payload
  readonly data: Data
}

/**
 * One operation of the API: its catalog entry and its schemas. Method, path, price and authentication come from the
 * catalog alone.
 */
export interface Operation<
  Name extends OperationName = OperationName,
  Params extends AnyCodec = AnyCodec,
  Query extends AnyCodec = AnyCodec,
  Payload extends AnyCodec = AnyCodec,
  Data extends AnyCodec = AnyCodec
> extends OperationShape<Params, Query, Payload, Data> {
  readonly name: Name
  readonly entry: CatalogEntry
  /** Every paid operation has one. */
  readonly example?: OperationExample
}

/** Defines an operation of the catalog. */
export const operation = <
  const Name extends OperationName,
  Params extends AnyCodec,
  Query extends AnyCodec,
  Payload extends AnyCodec,
  Data extends AnyCodec
>(
  name: Name,
  shape: OperationShape<Params, Query, Payload, Data> & {
    readonly example?: OperationExample<Payload["Encoded"], Data["Encoded"]>
  }
): Operation<Name, Params, Query, Payload, Data> => ({ name, entry: operationEntry(name), ...shape })

export const takesBody = (self: Operation): boolean => self.entry.method === "POST" && self.payload !== Nothing
