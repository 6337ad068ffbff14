// Generated from the OpenAPI document by `npx -y pnpm@12 generate`.

/** The JSON Schema of each input, by operation. */
export const INPUTS = {
  "createMailbox": {
    "localPart": {
      "description": "The part before the @: a dot-atom without a plus sign, converted to lower case.",
      "type": "string",
      "maxLength": 64,
      "pattern": "^[A-Za-z0-9!#$%&'*/=?^_`{|}~-]+(?:\\.[A-Za-z0-9!#$%&'*/=?^_`{|}~-]+)*$",
      "examples": [
        "ada"
      ]
    },
    "displayName": {
      "description": "Name that recipients see next to the address.",
      "type": "string",
      "maxLength": 128,
      "examples": [
        "Ada Lovelace"
      ]
    },
    "outboundSignature": {
      "description": "Text appended to every sent message.",
      "type": "string",
      "maxLength": 4096,
      "examples": [
        "Ada, an agent of Example Ltd."
      ]
    },
    "senderPolicy": {
      "description": "The senders from which the mailbox receives mail: mode (anyone, authenticated or listed; default anyone), allow and block, each a list of at most 100 addresses or domains. Replaces the whole policy; omitted parts take their defaults.",
      "type": "object",
      "properties": {
        "mode": {
          "type": "string",
          "enum": [
            "anyone",
            "authenticated",
            "listed"
          ],
          "description": "anyone, authenticated or listed. Default: anyone."
        },
        "allow": {
          "type": "array",
          "items": {
            "type": "string",
            "maxLength": 254
          },
          "maxItems": 100,
          "description": "Addresses and domains to receive mail from. Default: none."
        },
        "block": {
          "type": "array",
          "items": {
            "type": "string",
            "maxLength": 254
          },
          "maxItems": 100,
          "description": "Addresses and domains to receive no mail from. Default: none."
        }
      },
      "additionalProperties": false,
      "examples": [
        {
          "mode": "listed",
          "allow": [
            "bob@example.com",
            "example.org"
          ]
        }
      ]
    },
    "metadata": {
      "description": "Your own data on the mailbox: at most 20 keys of 1 to 40 characters, with values of at most 500. Other keys stay as they are; an empty value deletes its key.",
      "type": "object",
      "additionalProperties": {
        "type": [
          "string",
          "null"
        ],
        "maxLength": 500
      },
      "maxProperties": 20,
      "examples": [
        {
          "customer": "cus_42"
        }
      ]
    }
  },
  "sendMessage": {
    "mailboxId": {
      "description": "Id of your mailbox.",
      "type": "string",
      "format": "uuid",
      "examples": [
        "019ab1c0-5f3e-7cc1-8a52-3f6f0c8f2a11"
      ]
    },
    "to": {
      "description": "Addresses of the recipients. Required without inReplyTo. Default of a reply: the addresses in Reply-To of the message, or its sender; those in `to` of a message that you sent. Your own address is left out.",
      "type": "array",
      "items": {
        "type": "string",
        "format": "idn-email",
        "maxLength": 254
      },
      "maxItems": 50,
      "minItems": 1,
      "examples": [
        [
          "bob@example.com"
        ]
      ]
    },
    "cc": {
      "description": "Addresses that receive a copy.",
      "type": "array",
      "items": {
        "type": "string",
        "format": "idn-email",
        "maxLength": 254
      },
      "maxItems": 50,
      "examples": [
        [
          "carol@example.com"
        ]
      ]
    },
    "bcc": {
      "description": "Addresses that receive a copy without being shown to other recipients.",
      "type": "array",
      "items": {
        "type": "string",
        "format": "idn-email",
        "maxLength": 254
      },
      "maxItems": 50,
      "examples": [
        [
          "dan@example.com"
        ]
      ]
    },
    "replyTo": {
      "description": "Addresses to which replies shall go, in Reply-To. Default: your mailbox.",
      "type": "array",
      "items": {
        "type": "string",
        "format": "idn-email",
        "maxLength": 254
      },
      "maxItems": 10,
      "examples": [
        [
          "help@example.com"
        ]
      ]
    },
    "subject": {
      "description": "Subject, on one line. Required without inReplyTo and forwards. Default: that of the message with Re: or Fwd: before it.",
      "type": "string",
      "maxLength": 998,
      "examples": [
        "Hello"
      ]
    },
    "text": {
      "description": "Body as plain text. The limit is also counted in UTF-8 bytes.",
      "type": "string",
      "maxLength": 1048576,
      "examples": [
        "Hello Bob"
      ]
    },
    "html": {
      "description": "Body as HTML. The limit is also counted in UTF-8 bytes.",
      "type": "string",
      "maxLength": 1048576,
      "examples": [
        "<p>Hello Bob</p>"
      ]
    },
    "inReplyTo": {
      "description": "Id of your message, received or sent, that this one answers. Sets the headers and the thread.",
      "type": "string",
      "format": "uuid",
      "examples": [
        "019ab1c4-0d7b-7e0f-9c3c-64a9d1c1b0e7"
      ]
    },
    "forwards": {
      "description": "Id of your message, received or sent, that this one forwards: below text and html follow its header, its text and HTML, and its attachments. Begins a new thread.",
      "type": "string",
      "format": "uuid",
      "examples": [
        "019ab1c4-0d7b-7e0f-9c3c-64a9d1c1b0e7"
      ]
    },
    "forwardAttachments": {
      "description": "Whether the attachments of the forwarded message are sent too. Requires forwards. Default: true.",
      "type": "boolean",
      "examples": [
        false
      ]
    },
    "replyAll": {
      "description": "Whether a reply is copied to everyone in to and cc of the message, and to its mailing list, without your own address. Requires inReplyTo. Default: false.",
      "type": "boolean",
      "examples": [
        true
      ]
    },
    "automatic": {
      "description": "Whether a program sends the message by itself. It then carries Auto-Submitted (RFC 3834), and is refused as an answer to an automatic reply or a bounce, so that two programs do not answer each other forever. Default: true with inReplyTo, otherwise false. Pass false if a person or a decision of its own stands behind it.",
      "type": "boolean",
      "examples": [
        false
      ]
    },
    "sendAt": {
      "description": "When to send it, at most 30 days ahead. Default: now.",
      "type": "string",
      "format": "date-time",
      "examples": [
        "2026-01-31T12:00:00.000Z"
      ]
    },
    "attachments": {
      "description": "Files, each with filename (without a path), contentType and contentBase64, and contentId if the HTML shows it. At most 10485760 bytes together, after decoding.",
      "type": "array",
      "items": {
        "type": "object",
        "properties": {
          "filename": {
            "type": "string",
            "maxLength": 255,
            "minLength": 1,
            "description": "Name of the file, without a path."
          },
          "contentType": {
            "type": "string",
            "maxLength": 127,
            "description": "Media type of the file, with parameters if it needs any: `text/csv; charset=utf-8`."
          },
          "contentBase64": {
            "type": "string",
            "maxLength": 13981016,
            "description": "The bytes in base64, with padding and without line breaks."
          },
          "contentId": {
            "type": "string",
            "maxLength": 128,
            "description": "Makes the file part of the HTML, which shows it by `cid:` and this id: `<img src=\"cid:logo\">`. Requires html."
          }
        },
        "required": [
          "filename",
          "contentType",
          "contentBase64"
        ],
        "additionalProperties": false
      },
      "maxItems": 20,
      "examples": [
        [
          {
            "filename": "hello.txt",
            "contentType": "text/plain",
            "contentBase64": "SGVsbG8="
          }
        ]
      ]
    }
  },
  "queryMessages": {
    "mailboxId": {
      "type": "string",
      "format": "uuid",
      "examples": [
        "019ab1c0-5f3e-7cc1-8a52-3f6f0c8f2a11"
      ],
      "description": "Only messages of this mailbox."
    },
    "messageId": {
      "type": "string",
      "format": "uuid",
      "examples": [
        "019ab1c4-0d7b-7e0f-9c3c-64a9d1c1b0e7"
      ],
      "description": "Return this message with its body instead of a list."
    },
    "threadId": {
      "type": "string",
      "format": "uuid",
      "examples": [
        "019ab1c4-0d7b-7e0f-9c3c-64a9d1c1b0e7"
      ],
      "description": "Only messages of this conversation."
    },
    "direction": {
      "type": "string",
      "enum": [
        "inbound",
        "outbound"
      ],
      "examples": [
        "inbound"
      ],
      "description": "Only received messages, or only sent ones."
    },
    "from": {
      "type": "string",
      "format": "idn-email",
      "maxLength": 254,
      "examples": [
        "bob@example.com"
      ],
      "description": "Only messages from this address, in any case."
    },
    "q": {
      "type": "string",
      "maxLength": 256,
      "examples": [
        "invoice 2026"
      ],
      "description": "Only messages with all of these words, in any case, in the subject, the names, the addresses or the text. Punctuation separates words."
    },
    "label": {
      "type": "string",
      "maxLength": 64,
      "examples": [
        "invoice"
      ],
      "description": "Only messages with this label, in any case."
    },
    "unread": {
      "type": "boolean",
      "examples": [
        true
      ],
      "description": "Only unread messages if true, only read ones if false."
    },
    "limit": {
      "type": "integer",
      "minimum": 1,
      "maximum": 100,
      "default": 50,
      "examples": [
        10
      ],
      "description": "Maximum number of items to return."
    },
    "cursor": {
      "type": "string",
      "maxLength": 256,
      "examples": [
        "4dVQZ1n0bF9xJ2kT7mR3c"
      ],
      "description": "`nextCursor` of the previous page."
    },
    "after": {
      "type": "string",
      "format": "date-time",
      "examples": [
        "2026-01-31T12:00:00.000Z"
      ],
      "description": "Only messages received or sent at or after this time."
    },
    "before": {
      "type": "string",
      "format": "date-time",
      "examples": [
        "2026-01-31T12:00:00.000Z"
      ],
      "description": "Only messages received or sent before this time."
    }
  },
  "purchaseUsNumber": {
    "agentName": {
      "description": "Name of the agent that answers the number.",
      "type": "string",
      "maxLength": 128,
      "minLength": 1,
      "examples": [
        "Ada"
      ]
    },
    "agentWebhookUrl": {
      "description": "URL that receives what callers say and returns the agent's replies: https on port 443 of a public host. An agent without one answers over its realtime socket, and gives a host under .invalid.",
      "type": "string",
      "maxLength": 2048,
      "pattern": "^https:\\/\\/",
      "format": "uri",
      "examples": [
        "https://agent.example.com/voice"
      ]
    },
    "areaCode": {
      "description": "Preferred area code, three digits.",
      "type": "string",
      "pattern": "^[0-9]{3}$",
      "examples": [
        "415"
      ]
    },
    "description": {
      "description": "Your note about the number.",
      "type": "string",
      "maxLength": 1000,
      "examples": [
        "Support line"
      ]
    },
    "beginMessage": {
      "description": "Greeting that callers hear first.",
      "type": "string",
      "maxLength": 1000,
      "examples": [
        "Hello, this is Ada."
      ]
    },
    "voice": {
      "description": "Voice that speaks the agent's replies, one of GET /api/v1/phone/voices.",
      "type": "string",
      "maxLength": 128,
      "examples": [
        "en-US-Chirp3-HD-Kore"
      ]
    },
    "language": {
      "description": "Language of the calls as a BCP 47 tag, one of GET /api/v1/phone/voices.",
      "type": "string",
      "maxLength": 35,
      "pattern": "^(?:[A-Za-z]{1,8}(?:-[A-Za-z0-9]{1,8})*)?$",
      "examples": [
        "en-US"
      ]
    }
  },
  "callOneMinute": {
    "phoneNumberId": {
      "description": "Id of your number.",
      "type": "string",
      "format": "uuid",
      "examples": [
        "019ab1c8-8d52-7a44-9f0b-7f2f7a6a3d20"
      ]
    },
    "toNumber": {
      "description": "Number to call, in E.164 format.",
      "type": "string",
      "pattern": "^\\+[1-9][0-9]{6,14}$",
      "examples": [
        "+14155550150"
      ]
    },
    "initialGreeting": {
      "description": "Greeting that the called person hears first.",
      "type": "string",
      "maxLength": 1000,
      "examples": [
        "Hello, this is Ada."
      ]
    }
  },
  "getCall": {
    "callId": {
      "type": "string",
      "format": "uuid",
      "examples": [
        "019ab1cb-1c5d-7f39-8f6f-02a8a0c1d9b4"
      ],
      "description": "Id of your call."
    }
  },
  "queryThreads": {
    "mailboxId": {
      "type": "string",
      "format": "uuid",
      "examples": [
        "019ab1c0-5f3e-7cc1-8a52-3f6f0c8f2a11"
      ],
      "description": "Only threads of this mailbox."
    },
    "threadId": {
      "type": "string",
      "format": "uuid",
      "examples": [
        "019ab1c4-0d7b-7e0f-9c3c-64a9d1c1b0e7"
      ],
      "description": "Return this thread with its messages instead of a list."
    },
    "label": {
      "type": "string",
      "maxLength": 64,
      "examples": [
        "invoice"
      ],
      "description": "Only threads with a message that has this label, in any case."
    },
    "unread": {
      "type": "boolean",
      "examples": [
        true
      ],
      "description": "Only threads with an unread message if true, only those without one if false."
    },
    "limit": {
      "type": "integer",
      "minimum": 1,
      "maximum": 100,
      "default": 50,
      "examples": [
        10
      ],
      "description": "Maximum number of items to return."
    },
    "cursor": {
      "type": "string",
      "maxLength": 256,
      "examples": [
        "4dVQZ1n0bF9xJ2kT7mR3c"
      ],
      "description": "`nextCursor` of the previous page."
    }
  },
  "updateMessages": {
    "messageIds": {
      "description": "Ids of your messages, at most 100.",
      "type": "array",
      "items": {
        "type": "string",
        "format": "uuid"
      },
      "minItems": 1,
      "maxItems": 100,
      "examples": [
        [
          "019ab1c4-0d7b-7e0f-9c3c-64a9d1c1b0e7"
        ]
      ]
    },
    "addLabels": {
      "description": "Labels to add, in any case. A message has at most 20.",
      "type": "array",
      "items": {
        "type": "string",
        "maxLength": 64
      },
      "maxItems": 20,
      "examples": [
        [
          "invoice"
        ]
      ]
    },
    "removeLabels": {
      "description": "Labels to remove, in any case.",
      "type": "array",
      "items": {
        "type": "string",
        "maxLength": 64
      },
      "maxItems": 20,
      "examples": [
        [
          "inbox"
        ]
      ]
    },
    "unread": {
      "description": "`false` marks the messages as read, `true` as unread.",
      "type": "boolean",
      "examples": [
        false
      ]
    }
  },
  "cancelMessage": {
    "messageId": {
      "description": "Id of your scheduled message.",
      "type": "string",
      "format": "uuid",
      "examples": [
        "019ab1c4-0d7b-7e0f-9c3c-64a9d1c1b0e7"
      ]
    }
  }
} as const

/** Prices in USDT, by operation. */
export const PRICES = {
  "createMailbox": "0.25",
  "updateMailbox": "0.01",
  "deleteMailbox": "0.01",
  "sendMessage": "0.02",
  "purchaseUsNumber": "5.00",
  "purchaseCanadaNumber": "5.00",
  "renewNumber": "5.00",
  "callOneMinute": "0.30",
  "callFiveMinutes": "1.50",
  "extendCall": "0.30",
  "addInboundMinutes": "3.00"
} as const
