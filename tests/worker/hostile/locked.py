"""Really encrypted decks: LibreOffice needs a password, and cannot ask anybody."""

import base64
import hashlib
import io
import random
import struct
import zipfile
import zlib
from typing import Final

from cryptography.hazmat.primitives.ciphers import Cipher
from cryptography.hazmat.primitives.ciphers.algorithms import AES
from cryptography.hazmat.primitives.ciphers.modes import CBC, ECB

from tests.worker import hostile_decks
from tests.worker.hostile.packages import MANIFEST, text_of
from tests.worker.hostile.seeds import Seeds

PASSWORD: Final = "unheard of"
ROUNDS: Final = 50_000  # [MS-OFFCRYPTO] 2.3.4.7
PROVIDER: Final = "Microsoft Enhanced RSA and AES Cryptographic Provider\0".encode("utf-16-le")
ITERATIONS: Final = 1000


def password(good: Seeds, chance: random.Random, suffix: str, _how: None) -> bytes:
    """The good deck, encrypted."""
    return _locked_pptx(good.pptx, chance) if suffix == "pptx" else _locked_odp(good.odp, chance)


def _locked_pptx(deck: bytes, chance: random.Random, secret: str = PASSWORD) -> bytes:
    """Standard encryption of ECMA-376 with AES-128: the package in a compound file."""
    salt, verifier = chance.randbytes(16), chance.randbytes(16)
    key = _key(salt, secret)
    header = struct.pack("<8L", 0x24, 0, 0x660E, 0x8004, 128, 0x18, 0, 0) + PROVIDER
    info = struct.pack("<HHLL", 3, 2, 0x24, len(header)) + header + struct.pack("<L", 16) + salt
    proof = hashlib.sha1(verifier, usedforsecurity=False).digest().ljust(32, b"\0")
    info += _encrypted(key, ECB(), verifier) + struct.pack("<L", 20) + _encrypted(key, ECB(), proof)
    package = struct.pack("<Q", len(deck)) + _encrypted(key, ECB(), _padded(deck))
    return hostile_decks.compound_file({"EncryptedPackage": package, "EncryptionInfo": info})


def _key(salt: bytes, secret: str) -> bytes:
    digest = hashlib.sha1(salt + secret.encode("utf-16-le"), usedforsecurity=False).digest()
    for number in range(ROUNDS):
        digest = hashlib.sha1(struct.pack("<L", number) + digest, usedforsecurity=False).digest()
    digest = hashlib.sha1(digest + bytes(4), usedforsecurity=False).digest()
    inner = bytes(0x36 ^ byte for byte in digest.ljust(64, b"\0"))
    return hashlib.sha1(inner, usedforsecurity=False).digest()[:16]


def _locked_odp(deck: bytes, chance: random.Random) -> bytes:
    """Encryption of OpenDocument 1.2: content.xml is compressed and encrypted, and the manifest describes the key."""
    salt, vector = chance.randbytes(16), chance.randbytes(16)
    packer = zlib.compressobj(wbits=-15)
    content = hostile_decks.part_of(deck, "content.xml")
    packed = packer.compress(content) + packer.flush()
    start = hashlib.sha256(PASSWORD.encode()).digest()
    key = hashlib.pbkdf2_hmac("sha1", start, salt, ITERATIONS, 32)
    locked = _encrypted(key, CBC(vector), _padded(packed))
    entry = _entry(len(content), hashlib.sha256(packed[:1024]).digest(), vector, salt)
    manifest = _with_entry(text_of(deck, MANIFEST), entry)
    out = io.BytesIO()
    with zipfile.ZipFile(io.BytesIO(deck)) as old, zipfile.ZipFile(out, "w") as new:
        for name in old.namelist():
            new.writestr(name, {"content.xml": locked, MANIFEST: manifest.encode()}.get(name, old.read(name)))
    return out.getvalue()


def _entry(size: int, checksum: bytes, vector: bytes, salt: bytes) -> str:
    said, iv, salted = (base64.b64encode(raw).decode() for raw in (checksum, vector, salt))
    urn = "urn:oasis:names:tc:opendocument:xmlns:manifest:1.0"
    return (
        f'<manifest:file-entry manifest:full-path="content.xml" manifest:media-type="text/xml" manifest:size="{size}">'
        f'<manifest:encryption-data manifest:checksum-type="{urn}#sha256-1k" manifest:checksum="{said}">'
        '<manifest:algorithm manifest:algorithm-name="http://www.w3.org/2001/04/xmlenc#aes256-cbc" '
        f'manifest:initialisation-vector="{iv}"/><manifest:key-derivation manifest:key-derivation-name="PBKDF2" '
        f'manifest:key-size="32" manifest:iteration-count="{ITERATIONS}" manifest:salt="{salted}"/>'
        '<manifest:start-key-generation manifest:start-key-generation-name="http://www.w3.org/2000/09/xmldsig#sha256" '
        'manifest:key-size="32"/></manifest:encryption-data></manifest:file-entry>'
    )


def _with_entry(manifest: str, entry: str) -> str:
    plain = '<manifest:file-entry manifest:full-path="content.xml" manifest:media-type="text/xml"/>'
    if plain not in manifest:
        raise ValueError("the manifest does not list content.xml as expected")
    return manifest.replace(plain, entry, 1)


def _padded(content: bytes) -> bytes:
    missing = 16 - len(content) % 16
    return content + bytes([missing]) * missing


def _encrypted(key: bytes, mode: CBC | ECB, content: bytes) -> bytes:
    encryptor = Cipher(AES(key), mode).encryptor()
    return encryptor.update(content) + encryptor.finalize()
