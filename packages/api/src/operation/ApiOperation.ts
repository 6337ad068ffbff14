import { type CatalogEntry, type OperationName, operationEntry } from "@agentos/core"
import { Schema } from "effect"

/** An object without properties; any property is refused. */
const Nothing = Schema.Record(Schema.String, Schema.Never)

/** The shape of an operation without input that creates nothing, unless it says otherwise. */
const DEFAULTS = { params: Nothing, query: Nothing, payload: Nothing, status: 200 } as const

type AnyCodec = Schema.Codec<unknown, unknown>

/** The output of an operation that returns bytes of one of these media types instead of the success envelope. */
export const bytes = (...mediaTypes: ReadonlyArray<string>): Bytes =>
  Object.assign(Schema.Uint8Array.annotate({}), { mediaTypes })
export type Bytes = Schema.Uint8Array & { readonly mediaTypes: ReadonlyArray<string> }

export const isBytes = (data: AnyCodec): data is Bytes => "mediaTypes" in data

/** The tags of the OpenAPI document, in its order, each with its description. */
export const TAGS = {
  Discovery: "Services, prices and how to start.",
  Authentication: "Access tokens, for the wallet that owns them.",
  Payments: "The state of payments.",
  Mailboxes: "Addresses that receive and send mail.",
  Messages: "Sent and received mail.",
  Threads: "Conversations: the messages that answer each other.",
  Attachments: "The files of messages.",
  Suppressions: "Addresses that you can't write to.",
  "Phone numbers": "Numbers and their inbound minutes.",
  Calls: "Outbound and inbound calls, and their transcripts.",
  Events: "The durable events of a tenant.",
  Webhooks: "The endpoint that receives your events.",
  Limits: "The quotas of your wallet.",
  Domains: "Reserved in this version and never available."
} as const

/** The schemas of an operation's input and output. */
export interface OperationShape<
  Params extends AnyCodec = AnyCodec,
  Query extends AnyCodec = AnyCodec,
  Payload extends AnyCodec = AnyCodec,
  Data extends AnyCodec = AnyCodec
> {
  readonly params: Params
  readonly query: Query
  /** The JSON body. */
  readonly payload: Payload
  /** `data` of the success envelope; or `bytes` for a response without an envelope. */
  readonly data: Data
  /** 201 if the operation creates something. */
  readonly status: 200 | 201
  /** The status if the resource existed and was replaced; absent if the operation creates one each time. */
  readonly replacedStatus?: 200
  /** Whether the response has an entity tag, so that a client which has it gets 304. Bytes always have one. */
  readonly hasEntityTag?: true
  /** The kind of resource that it is about. */
  readonly tag: keyof typeof TAGS
  /** The operation in two to five words, for navigation. */
  readonly summary: string
  /** A few sentences about the operation, beyond the `purpose` of its catalog entry. */
  readonly description: string
}

/**
 * A request that the server accepts, apart from its ids, and `data` of its response, as JSON. The data of bytes are their
 * text.
 */
export interface OperationExample<Params = unknown, Query = unknown, Payload = unknown, Data = unknown> {
  readonly params?: Params
  readonly query?: Query
  readonly payload?: Payload
  readonly data: Data
}

type ExampleOf<
  Params extends AnyCodec,
  Query extends AnyCodec,
  Payload extends AnyCodec,
  Data extends AnyCodec
> = OperationExample<
  Params["Encoded"],
  Query["Encoded"],
  Payload["Encoded"],
  Data extends Bytes ? string : Data["Encoded"]
>

/**
 * One operation of the API: its catalog entry and its schemas. Method, path, price and authentication come from the
 * catalog alone.
 */
export interface ApiOperation<
  Name extends OperationName = OperationName,
  Params extends AnyCodec = AnyCodec,
  Query extends AnyCodec = AnyCodec,
  Payload extends AnyCodec = AnyCodec,
  Data extends AnyCodec = AnyCodec
> extends OperationShape<Params, Query, Payload, Data> {
  readonly name: Name
  readonly entry: CatalogEntry
  /** Every operation that can succeed has one. */
  readonly example?: OperationExample
  /** Further requests with other forms of response, by name. */
  readonly variants?: Readonly<Record<string, OperationExample>>
}

/** Defines an operation of the catalog. An omitted part of its input accepts nothing, and an omitted status is 200. */
export const operation = <
  const Name extends OperationName,
  Data extends AnyCodec,
  Params extends AnyCodec = typeof Nothing,
  Query extends AnyCodec = typeof Nothing,
  Payload extends AnyCodec = typeof Nothing
>(
  name: Name,
  shape: Omit<OperationShape<Params, Query, Payload, Data>, keyof typeof DEFAULTS> & {
    readonly params?: Params
    readonly query?: Query
    readonly payload?: Payload
    readonly status?: 201
    readonly example?: ExampleOf<Params, Query, Payload, Data>
    readonly variants?: Readonly<Record<string, ExampleOf<Params, Query, Payload, Data>>>
  }
): ApiOperation<Name, Params, Query, Payload, Data> =>
  ({ name, entry: operationEntry(name), ...DEFAULTS, ...shape }) as ApiOperation<Name, Params, Query, Payload, Data>

export const takesBody = (self: ApiOperation): boolean => self.entry.method === "POST" && self.payload !== Nothing
