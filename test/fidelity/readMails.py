"""Reads mails with Python's email package. Input: a path in each line. Output: a JSON object in each line."""

import email
import email.policy
import email.utils
import hashlib
import json
import sys

for line in sys.stdin:
    path = line.rstrip("\n")
    try:
        with open(path, "rb") as file:
            message = email.message_from_binary_file(file, policy=email.policy.default)
        read = {}

        def addresses(name):
            found = []
            for field in message.get_all(name, []):
                found += [address.addr_spec for address in field.addresses if address.domain]
            return found

        read["from"] = addresses("from")
        read["to"] = addresses("to")
        read["cc"] = addresses("cc")
        read["subject"] = str(message.get("subject", ""))
        read["messageId"] = str(message.get("message-id", "")).strip()
        texts = {"plain": [], "html": []}
        attachments = []
        def walk(part):
            content = part.get_content_type()
            if part.is_multipart() and content != "message/rfc822" and not content.startswith("message/"):
                for child in part.iter_parts():
                    walk(child)
                return
            name = part.get_filename()
            disposition = part.get_content_disposition()
            kind = content.split("/")[1]
            if content in ("text/plain", "text/html") and disposition != "attachment" and name is None:
                texts[kind].append(part.get_content())
                return
            size = None
            if not part.is_multipart():
                payload = part.get_payload(decode=True) or b""
                size = len(payload)
            attachments.append({"filename": name, "contentType": content, "sizeBytes": size})
        walk(message)
        read["text"] = "\n".join(texts["plain"]) if texts["plain"] else None
        read["html"] = "\n".join(texts["html"]) if texts["html"] else None
        read["attachments"] = attachments
        print(json.dumps({"read": read}), flush=True)
    except Exception as error:
        print(json.dumps({"error": f"{type(error).__name__}: {error}"}), flush=True)
