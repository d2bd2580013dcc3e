"""How large a picture is once unpacked."""
