// SPDX-License-Identifier: BSL-1.0
// Copyright (c) 2026 The Cogwheel authors
//
// Objects that other rooms keep for a wheel, one of each type.
#pragma once

#include <cogwheel/detail/which_asio.hpp>

#include <typeinfo>
#include <utility>

namespace cogwheel::COGWHEEL_ABI::detail::COGWHEEL_ASIO {

// Names a type. Libraries that hide their symbols get the same key, except without RTTI.
#ifdef __cpp_rtti
using type_key = const std::type_info*;
template <class T>
type_key key_of() noexcept {
    return &typeid(T);
}
inline bool same_type(type_key a, type_key b) noexcept { return *a == *b; }
#else
using type_key = const void*;
template <class T>
type_key key_of() noexcept {
    static const char address = 0;
    return &address;
}
inline bool same_type(type_key a, type_key b) noexcept { return a == b; }
#endif

/// The base of an extension. It is abstract, so that no wheel without extensions contains its functions.
class wheel_extension {
public:
    virtual ~wheel_extension() = default;
    /// Releases objects of other services of the execution context, which is being destroyed.
    virtual void shut_down() noexcept = 0;

private:
    friend class wheel_extensions;
    type_key type_ = nullptr;
    wheel_extension* next_ = nullptr; // owned by wheel_extensions
};

/// The extensions of a wheel. Needs the engine's lock.
class wheel_extensions {
public:
    wheel_extensions() = default;
    wheel_extensions(wheel_extensions&& other) noexcept : first_(std::exchange(other.first_, nullptr)) {}
    wheel_extensions& operator=(wheel_extensions&&) = delete;
    ~wheel_extensions() { clear(); }

    /// Returns the extension of this type, and makes it at the first call. Errors: std::bad_alloc.
    template <class Extension>
    Extension& get() {
        const type_key type = key_of<Extension>();
        for (wheel_extension* e = first_; e != nullptr; e = e->next_)
            if (same_type(e->type_, type)) return static_cast<Extension&>(*e);
        auto* made = new Extension;
        made->wheel_extension::type_ = type;
        made->wheel_extension::next_ = std::exchange(first_, made);
        return *made;
    }

    template <class Extension>
    const Extension* find() const noexcept {
        const type_key type = key_of<Extension>();
        for (const wheel_extension* e = first_; e != nullptr; e = e->next_)
            if (same_type(e->type_, type)) return static_cast<const Extension*>(e);
        return nullptr;
    }

    COGWHEEL_ALWAYS_INLINE void shut_down() noexcept {
        for (wheel_extension* e = first_; e != nullptr; e = e->next_) e->shut_down();
    }
    void clear() noexcept {
        while (first_ != nullptr) delete std::exchange(first_, first_->next_);
    }

private:
    wheel_extension* first_ = nullptr;
};

} // namespace cogwheel::COGWHEEL_ABI::detail::COGWHEEL_ASIO
